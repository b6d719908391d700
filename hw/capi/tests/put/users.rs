use core::ptr::null_mut;

use multipc_capi::*;

use crate::common::{blank, ok, wrong};
use crate::{LAST, free, page, pair, run};

#[test]
fn an_event_belongs_to_the_user_that_owns_its_identifier() {
    let (m, puts) = pair();
    let (mut sap, mut start, mut sequence) = ([9; 2], [9; 2], 0);
    // SAFETY: handles, locals.
    unsafe {
        for put in puts {
            for user in 0..2 {
                ok(multipc_put_register_sap(put, &mut sap[user]));
                ok(multipc_put_attach(put, sap[user], 16, &mut start[user]));
            }
        }
        assert_eq!((sap, start), ([0, 1], [0, 16]));
        ok(multipc_put_post(puts[0], &page(18, LAST), 1, &mut sequence));
        run(m, 20_000_000);
        for (put, kind) in puts
            .into_iter()
            .zip([MULTIPC_PUT_SENT, MULTIPC_PUT_RECEIVED])
        {
            let (mut event, mut served) = (blank::<multipc_put_event>(), blank());
            ok(multipc_put_interrupt(put, 8, &mut event, 1, &mut served));
            assert_eq!((served.cause, served.events), (1, 1));
            assert_eq!((event.kind, event.sap, event.entry.mi), (kind, 1, 18));
        }
        let mut served = blank::<multipc_put_served>();
        ok(multipc_put_interrupt(
            puts[0],
            8,
            null_mut(),
            0,
            &mut served,
        ));
        assert_eq!(
            (served.cause, served.more),
            (0, 0),
            "INTA# was not asserted"
        );
    }
    let (put, mut start) = (puts[0], 0);
    wrong!(
        MULTIPC_ERROR_BUSY,
        "sap has 16 message identifiers from 16 already",
        multipc_put_attach(put, 1, 16, &mut start)
    );
    wrong!(
        MULTIPC_ERROR_ARGUMENT,
        "sap 2 is not registered",
        multipc_put_attach(put, 2, 16, &mut start)
    );
    wrong!(
        MULTIPC_ERROR_ARGUMENT,
        "sap 4294967295 is not registered",
        multipc_put_unregister_sap(put, u32::MAX)
    );
    // SAFETY: handles, locals.
    unsafe {
        ok(multipc_put_unregister_sap(put, 0));
        for _ in 0..5 {
            ok(multipc_put_register_sap(put, &mut start));
        }
    }
    wrong!(
        MULTIPC_ERROR_FULL,
        "all 6 saps are in use",
        multipc_put_register_sap(put, &mut start)
    );
    free(m, puts);
}
