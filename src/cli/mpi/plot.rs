//! The curves of `multipc mpi pingpong` as SVG.

use std::boxed::Box;
use std::error::Error;
use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

use plotters::coord::Shift;
use plotters::prelude::{
    BLACK, ChartBuilder, Color, Cross, DrawingArea, IntoDrawingArea, IntoLogRange, LineSeries,
    PathElement, RGBColor, SVGBackend, SeriesLabelPosition, WHITE,
};

use super::pingpong::{BANDWIDTH_MBIT_S, Curve, LATENCY_US, Point};

const PUT: RGBColor = RGBColor(0x7F, 0x8C, 0x8D);
const MPI2: RGBColor = RGBColor(0x1F, 0x4E, 0x8C);
const MPI1: RGBColor = RGBColor(0xC0, 0x39, 0x2B);

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Drawn = Result<(), Box<dyn Error>>;

/// Latency and bandwidth against message size; crosses mark the published
/// figures.
pub fn pingpong(mpi1: &Curve, mpi2: &Curve, put: &Curve) -> Result<String, Box<dyn Error>> {
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, (1100, 520)).into_drawing_area();
        root.fill(&WHITE).map_err(message)?;
        let (left, right) = root.split_horizontally(550);
        let curves = [
            (put, PUT, "PUT"),
            (mpi2, MPI2, "MPI-MPC 2 (user level)"),
            (mpi1, MPI1, "MPI-MPC 1 (kernel)"),
        ];
        latency(&left, &curves)?;
        bandwidth(&right, &curves)?;
        root.present().map_err(message)?;
    }
    Ok(svg)
}

fn message(error: impl Error) -> String {
    error.to_string()
}

/// 0 bytes have no place on a logarithmic axis: they are drawn at half a byte.
fn at(point: &Point) -> f64 {
    f64::from(point.bytes).max(0.5)
}

fn latency(area: &Area<'_>, curves: &[(&Curve, RGBColor, &'static str)]) -> Drawn {
    let mut chart = ChartBuilder::on(area)
        .margin(14)
        .caption("half of a round trip, us", ("sans-serif", 20))
        .x_label_area_size(48)
        .y_label_area_size(64)
        .build_cartesian_2d((0.4f64..6e6).log_scale(), (2f64..2e5).log_scale())
        .map_err(message)?;
    chart
        .configure_mesh()
        .x_desc("bytes (0 at the left edge)")
        .x_label_formatter(&|x| format!("{x:.0}"))
        .y_label_formatter(&|y| format!("{y:.0}"))
        .label_style(("sans-serif", 13))
        .light_line_style(BLACK.mix(0.04))
        .draw()
        .map_err(message)?;
    for (curve, color, name) in curves {
        let points: Vec<_> = curve.points.iter().map(|p| (at(p), p.latency_us)).collect();
        let color = *color;
        chart
            .draw_series(LineSeries::new(points, color.stroke_width(2)))
            .map_err(message)?
            .label(*name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 20, y)], color.stroke_width(2)));
    }
    for (value, color) in LATENCY_US.into_iter().zip([MPI1, MPI2]) {
        chart
            .draw_series([Cross::new((0.5, value), 6, color.stroke_width(2))])
            .map_err(message)?;
    }
    chart
        .configure_series_labels()
        .background_style(WHITE.mix(0.9))
        .border_style(BLACK.mix(0.3))
        .label_font(("sans-serif", 13))
        .position(SeriesLabelPosition::UpperLeft)
        .draw()
        .map_err(message)?;
    Ok(())
}

fn bandwidth(area: &Area<'_>, curves: &[(&Curve, RGBColor, &'static str)]) -> Drawn {
    let mut chart = ChartBuilder::on(area)
        .margin(14)
        .margin_right(24)
        .caption("bandwidth, Mbit/s", ("sans-serif", 20))
        .x_label_area_size(48)
        .y_label_area_size(64)
        .build_cartesian_2d((0.8f64..6e6).log_scale(), 0f64..550f64)
        .map_err(message)?;
    chart
        .configure_mesh()
        .x_desc("bytes (crosses: published figures)")
        .x_label_formatter(&|x| format!("{x:.0}"))
        .y_label_formatter(&|y| format!("{y:.0}"))
        .label_style(("sans-serif", 13))
        .light_line_style(BLACK.mix(0.04))
        .draw()
        .map_err(message)?;
    for (curve, color, _) in curves {
        let shown = curve.points.iter().filter(|point| point.bytes > 0);
        let points: Vec<_> = shown.map(|p| (at(p), p.bandwidth_mbit_s)).collect();
        chart
            .draw_series(LineSeries::new(points, color.stroke_width(2)))
            .map_err(message)?;
    }
    chart
        .draw_series([Cross::new(
            (f64::from(4u32 << 20), BANDWIDTH_MBIT_S),
            6,
            MPI1.stroke_width(2),
        )])
        .map_err(message)?;
    Ok(())
}
