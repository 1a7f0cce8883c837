//! Points a second over uniform factors, a panel a number of patches: each mode, what the plain fill allows, and the driver's
//! own tessellation where it was measured.

use super::loads::{Report, Row};
use crate::canvas::{Anchor, Canvas, Colour, Drawing};
use crate::scene::mode::Mode;

/// A curve of a panel.
struct Series {
    name: String,
    colour: Colour,
    is_dashed: bool,
    /// Factor and points a second.
    points: Vec<[f64; 2]>,
}

/// One number of patches.
struct Panel {
    patches: u32,
    series: Vec<Series>,
}

/// The picture of a report.
pub(super) struct Plot<'a> {
    report: &'a Report,
    panels: Vec<Panel>,
    /// Least and most factor.
    factors: [f64; 2],
    /// Decades of points a second.
    decades: [i32; 2],
}

const WIDTH: f64 = 860.0;
const LEFT: f64 = 76.0;
const RIGHT: f64 = 236.0;
const TOP: f64 = 66.0;
const PANEL_TOP: f64 = 34.0;
const PANEL: f64 = 300.0;
const PANEL_BOTTOM: f64 = 52.0;
const MARKER: f64 = 6.0;
const DASH: [f64; 2] = [7.0, 5.0];
const INK: Colour = [34, 40, 49];
const PALE: Colour = [110, 118, 128];
const GRID: Colour = [222, 226, 231];
const FILL: Colour = [196, 40, 40];
#[cfg(feature = "native")]
const NATIVE: Colour = [120, 86, 160];

fn colour(mode: Mode) -> Colour {
    match mode {
        Mode::Onchip => [28, 110, 190],
        Mode::Offchip => [222, 126, 18],
        Mode::Dynamic => [30, 140, 90],
    }
}

impl<'a> Plot<'a> {
    pub(super) fn new(report: &'a Report) -> Self {
        let mut patches: Vec<u32> = report.rows.iter().map(|row| row.patches).collect();
        patches.dedup();
        let panels: Vec<_> = patches.into_iter().map(|patches| Panel::new(report, patches)).collect();
        let all = || panels.iter().flat_map(|panel| &panel.series).flat_map(|series| &series.points);
        let range = |axis: usize| {
            let values = || all().map(move |point| point[axis]);
            [values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max)]
        };
        let [least, most] = range(1).map(|rate| if rate.is_finite() { rate.max(1.0).log10() } else { 0.0 });
        let low = least.floor() as i32;
        Self { report, factors: range(0), decades: [low, (most.ceil() as i32).max(low + 1)], panels }
    }

    fn x(&self, factor: f64) -> f64 {
        let [least, most] = self.factors.map(f64::log2);
        let share = if most > least { (factor.log2() - least) / (most - least) } else { 0.5 };
        LEFT + 20.0 + share * (WIDTH - LEFT - RIGHT - 40.0)
    }

    /// From the panel's top.
    fn y(&self, rate: f64) -> f64 {
        let [low, high] = self.decades.map(f64::from);
        PANEL_TOP + (high - rate.max(1.0).log10()) / (high - low) * PANEL
    }

    fn axes(&self, canvas: &mut dyn Canvas, top: f64, panel: &Panel) {
        for decade in self.decades[0]..=self.decades[1] {
            for (step, width) in [(1.0, 1.0), (2.0, 0.5), (5.0, 0.5)] {
                let rate = step * 10f64.powi(decade);
                if rate > 10f64.powi(self.decades[1]) {
                    continue;
                }
                let y = top + self.y(rate);
                canvas.lines(GRID, width, &[[[LEFT, y], [WIDTH - RIGHT, y]]]);
                if step == 1.0 {
                    canvas.text([LEFT - 8.0, y], Anchor::End, PALE, &rate_name(decade));
                }
            }
        }
        let bottom = top + PANEL_TOP + PANEL;
        let mut factors: Vec<f64> = panel.series.iter().flat_map(|s| &s.points).map(|point| point[0]).collect();
        factors.sort_by(f64::total_cmp);
        factors.dedup();
        for factor in factors {
            let x = self.x(factor);
            canvas.lines(GRID, 1.0, &[[[x, top + PANEL_TOP], [x, bottom + 4.0]]]);
            canvas.text([x, bottom + 14.0], Anchor::Middle, PALE, &factor.to_string());
        }
        canvas.text([(LEFT + WIDTH - RIGHT) / 2.0, bottom + 32.0], Anchor::Middle, PALE, "factor");
    }
}

impl Panel {
    fn new(report: &Report, patches: u32) -> Self {
        let rows: Vec<_> = report.rows.iter().filter(|row| row.patches == patches).collect();
        let of_mode = |mode: Mode| Series {
            name: mode.name().to_owned(),
            colour: colour(mode),
            is_dashed: false,
            points: curve(rows.iter().filter(|row| row.mode == mode.name()), |row| {
                Some([f64::from(row.factor?), row.million_points_per_second * 1e6])
            }),
        };
        let mut series = vec![Series {
            name: if report.indices { "fill, with indices" } else { "fill" }.to_owned(),
            colour: FILL,
            is_dashed: true,
            points: curve(rows.iter(), |row| {
                let bytes = row.bytes() as f64 / row.points as f64;
                Some([f64::from(row.factor?), report.fill_gigabytes_per_second? * 1e9 / bytes])
            }),
        }];
        series.extend(Mode::ALL.map(of_mode));
        #[cfg(feature = "native")]
        if let Some(native) = &report.native {
            for (what, is_dashed) in [("discarded", false), ("written", true)] {
                let rows = native.rows.iter().filter(|row| row.patches == patches && row.what == what);
                let points = curve(rows, |row| Some([f64::from(row.factor?), row.million_points_per_second? * 1e6]));
                series.push(Series { name: format!("native, {what}"), colour: NATIVE, is_dashed, points });
            }
        }
        series.retain(|series| !series.points.is_empty());
        Self { patches, series }
    }
}

/// The points of a curve, along the axis, one a factor.
fn curve<T>(rows: impl Iterator<Item = T>, point: impl Fn(T) -> Option<[f64; 2]>) -> Vec<[f64; 2]> {
    let mut points: Vec<_> = rows.filter_map(point).filter(|at| at[0] > 0.0 && at[1] > 0.0).collect();
    points.sort_by(|a, b| a[0].total_cmp(&b[0]));
    points.dedup_by(|a, b| a[0] == b[0]);
    points
}

/// A power of ten with a prefix.
fn rate_name(decade: i32) -> String {
    let prefixes = ["", "k", "M", "G", "T"];
    let prefix = (decade.max(0) / 3).min(prefixes.len() as i32 - 1);
    format!("{} {}", 10i64.pow((decade.max(0) - 3 * prefix) as u32), prefixes[prefix as usize])
}

/// The stretches from point to point.
fn stretches(points: &[[f64; 2]]) -> Vec<[[f64; 2]; 2]> {
    points.array_windows().copied().collect()
}

/// Dashes along a line.
fn dashes(points: &[[f64; 2]]) -> Vec<[[f64; 2]; 2]> {
    let mut dashes = Vec::new();
    let mut at = 0.0;
    for [from, to] in points.array_windows() {
        let along = [to[0] - from[0], to[1] - from[1]];
        let length = along[0].hypot(along[1]);
        let place = |distance: f64| {
            let share = if length > 0.0 { distance / length } else { 0.0 };
            [from[0] + along[0] * share, from[1] + along[1] * share]
        };
        let period = DASH[0] + DASH[1];
        // The first dash that may reach into this stretch began before it.
        let mut begin = -at;
        while begin < length {
            let [first, last] = [begin.max(0.0), (begin + DASH[0]).min(length)];
            if last > first {
                dashes.push([place(first), place(last)]);
            }
            begin += period;
        }
        at = (at + length) % period;
    }
    dashes
}

impl Drawing for Plot<'_> {
    fn size(&self) -> [u32; 2] {
        let height = TOP + self.panels.len() as f64 * (PANEL_TOP + PANEL + PANEL_BOTTOM);
        [WIDTH as u32, height.ceil() as u32]
    }

    fn draw(&self, canvas: &mut dyn Canvas) {
        let Report { adapter, clock, fill_gigabytes_per_second, .. } = self.report;
        let written =
            if self.report.indices { "vertices of 32 bytes and indices" } else { "vertices of 32 bytes alone" };
        let fill = fill_gigabytes_per_second.unwrap_or(0.0);
        canvas.text([16.0, 18.0], Anchor::Start, INK, "Domain points a second, bicubic patches with one factor");
        canvas.text([16.0, 36.0], Anchor::Start, PALE, adapter);
        canvas.text([16.0, 54.0], Anchor::Start, PALE, &format!("{written}; plain fill {fill:.1} GB/s; {clock}"));
        for (i, panel) in self.panels.iter().enumerate() {
            let top = TOP + i as f64 * (PANEL_TOP + PANEL + PANEL_BOTTOM);
            canvas.text([LEFT, top + 18.0], Anchor::Start, INK, &format!("{} patches", panel.patches));
            self.axes(canvas, top, panel);
            for (i, series) in panel.series.iter().enumerate() {
                let place = |point: &[f64; 2]| [self.x(point[0]), top + self.y(point[1])];
                let line: Vec<_> = series.points.iter().map(place).collect();
                let key = top + PANEL_TOP + 10.0 + 20.0 * i as f64;
                let legend = [[WIDTH - RIGHT + 18.0, key], [WIDTH - RIGHT + 46.0, key]];
                for points in [&line[..], &legend[..]] {
                    let (width, lines) =
                        if series.is_dashed { (1.5, dashes(points)) } else { (2.0, stretches(points)) };
                    canvas.lines(series.colour, width, &lines);
                }
                let markers: Vec<_> =
                    line.iter().map(|[x, y]| [x - MARKER / 2.0, y - MARKER / 2.0, MARKER, MARKER]).collect();
                canvas.rects(series.colour, &markers);
                canvas.text([legend[1][0] + 8.0, key], Anchor::Start, INK, &series.name);
            }
        }
    }
}

impl Row {
    /// What it writes.
    fn bytes(&self) -> u64 {
        (self.gigabytes_per_second * self.milliseconds * 1e6).round() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decades_have_names() {
        assert_eq!([0, 4, 6, 11, 13].map(rate_name), ["1 ", "10 k", "1 M", "100 G", "10 T"]);
    }

    #[test]
    fn dashes_go_on_round_corners() {
        // 120 long, ten periods, in stretches that are none of whole periods.
        let dashes = dashes(&[[0.0, 0.0], [50.0, 0.0], [50.0, 3.0], [117.0, 3.0]]);
        let long: f64 = dashes.iter().map(|[from, to]| (to[0] - from[0]).hypot(to[1] - from[1])).sum();
        assert!((long - 70.0).abs() < 1e-9, "{dashes:?}");
    }
}
