//! Curves as SVG.

use std::boxed::Box;
use std::error::Error;
use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

use plotters::prelude::{
    BLACK, ChartBuilder, Circle, Color, EmptyElement, IntoDrawingArea, IntoLogRange, LineSeries,
    PathElement, Polygon, RGBColor, SVGBackend, WHITE,
};

use crate::figures::{PutPoint, throughput_band};

const RECORD: RGBColor = RGBColor(0xC0, 0x39, 0x2B);
const MODEL: RGBColor = RGBColor(0x1F, 0x4E, 0x8C);

/// Draws record (points with their accepted band) and model (line) of the
/// throughput curve, as an SVG document; `note` goes to the axis of page sizes.
pub fn put_curve(points: &[PutPoint], note: &str) -> Result<String, Box<dyn Error>> {
    let mut svg = String::new();
    draw_put_curve(&mut svg, points, note)?;
    Ok(svg)
}

fn draw_put_curve(
    svg: &mut String,
    points: &[PutPoint],
    note: &str,
) -> Result<(), Box<dyn Error + 'static>> {
    let root = SVGBackend::with_string(svg, (900, 560)).into_drawing_area();
    root.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&root)
        .margin(18)
        .margin_right(40)
        .caption("PUT: throughput against page size", ("sans-serif", 22))
        .x_label_area_size(58)
        .y_label_area_size(64)
        .build_cartesian_2d((0.8f64..100_000f64).log_scale(), 0f64..560f64)?;
    chart
        .configure_mesh()
        .x_desc(format!("bytes a page    ({note})"))
        .y_desc("Mbit/s")
        .x_label_formatter(&|x| format!("{x:.0}"))
        .y_label_formatter(&|y| format!("{y:.0}"))
        .label_style(("sans-serif", 14))
        .axis_desc_style(("sans-serif", 15))
        .light_line_style(BLACK.mix(0.04))
        .draw()?;
    let band: Vec<(f64, f64)> = points
        .iter()
        .map(|p| {
            (
                f64::from(p.bytes),
                p.record_mbit_s * (1.0 + throughput_band(p.bytes)),
            )
        })
        .chain(points.iter().rev().map(|p| {
            (
                f64::from(p.bytes),
                p.record_mbit_s * (1.0 - throughput_band(p.bytes)),
            )
        }))
        .collect();
    chart
        .draw_series([Polygon::new(band, RECORD.mix(0.13))])?
        .label("accepted band")
        .legend(|(x, y)| PathElement::new([(x, y), (x + 22, y)], RECORD.mix(0.25).stroke_width(9)));
    chart
        .draw_series(LineSeries::new(
            points.iter().map(|p| (f64::from(p.bytes), p.model_mbit_s)),
            MODEL.stroke_width(2),
        ))?
        .label("model (chips, clock by clock)")
        .legend(|(x, y)| PathElement::new([(x, y), (x + 22, y)], MODEL.stroke_width(2)));
    chart
        .draw_series(points.iter().map(|p| {
            EmptyElement::at((f64::from(p.bytes), p.record_mbit_s))
                + Circle::new((0, 0), 3, RECORD.filled())
        }))?
        .label("record (April 2000)")
        .legend(|(x, y)| Circle::new((x + 11, y), 3, RECORD.filled()));
    chart
        .configure_series_labels()
        .background_style(WHITE.mix(0.9))
        .border_style(BLACK.mix(0.3))
        .label_font(("sans-serif", 14))
        .position(plotters::prelude::SeriesLabelPosition::LowerRight)
        .draw()?;
    root.present().map_err(|error| error.to_string())?;
    Ok(())
}
