//! Points a second over uniform factors, a panel a number of patches.
use super::loads::Report;
use crate::canvas::{Canvas, Drawing};
pub(super) struct Plot<'a> {
    report: &'a Report,
}
impl<'a> Plot<'a> {
    pub(super) fn new(report: &'a Report) -> Self {
        Self { report }
    }
}
impl Drawing for Plot<'_> {
    fn size(&self) -> [u32; 2] {
        [1, 1]
    }
    fn draw(&self, _: &mut dyn Canvas) {
        let _ = self.report;
    }
}
