//! What comes from the GPU behind a frame, some frames later.

use patchwave::Error;
use patchwave::hardware::Statistics;
use patchwave::pipeline::DrawReport;

use super::times::PassTimes;

/// An answer.
pub(super) enum News {
    /// What a draw came to.
    Report { of: Question, report: Result<DrawReport, Error> },
    /// The same in detail.
    Statistics { of: Question, statistics: Result<Statistics, Error> },
    /// What the passes of a frame took.
    Times(PassTimes),
}

/// What was asked: of the frames of which inputs, and of which draw of theirs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Question {
    pub(super) inputs: u64,
    pub(super) draw: usize,
}

/// One kind of answers about the draws of the frames of the same inputs: each draw is asked about once.
#[derive(Clone, Debug)]
pub(super) struct Answers<T> {
    inputs: u64,
    asked: Vec<bool>,
    pub(super) answers: Vec<Option<T>>,
}

impl<T: Clone> Answers<T> {
    pub(super) fn new() -> Self {
        Self { inputs: 0, asked: Vec::new(), answers: Vec::new() }
    }

    /// Forgets all, for the frames of other inputs, of so many draws.
    pub(super) fn begin(&mut self, inputs: u64, draws: usize) {
        self.inputs = inputs;
        self.asked = vec![false; draws];
        self.answers = vec![None; draws];
    }

    /// The next question, if a draw has not been asked about.
    pub(super) fn question(&self) -> Option<Question> {
        let draw = self.asked.iter().position(|asked| !asked)?;
        Some(Question { inputs: self.inputs, draw })
    }

    /// Notes that the question is under way.
    pub(super) fn ask(&mut self, question: Question) {
        if let Some(asked) = self.asked.get_mut(question.draw) {
            *asked = true;
        }
    }

    /// Takes an answer, where it is still about the frames of now. One that failed is asked for again.
    pub(super) fn answer<E>(&mut self, question: Question, answer: Result<T, E>) -> Option<E> {
        if question.inputs != self.inputs || question.draw >= self.answers.len() {
            return None;
        }
        match answer {
            Ok(answer) => {
                self.answers[question.draw] = Some(answer);
                None
            }
            Err(error) => {
                self.asked[question.draw] = false;
                Some(error)
            }
        }
    }

    /// Whether all draws are answered for.
    pub(super) fn are_all_there(&self) -> bool {
        self.answers.iter().all(Option::is_some)
    }
}

/// The statistics of all draws together.
pub(super) fn together(all: &[Option<Statistics>]) -> Option<Statistics> {
    let mut sum = Statistics::default();
    for one in all {
        let one = one.as_ref()?;
        sum.ia_vertices += one.ia_vertices;
        sum.ia_primitives += one.ia_primitives;
        sum.vs_invocations += one.vs_invocations;
        sum.hs_invocations += one.hs_invocations;
        sum.ds_invocations += one.ds_invocations;
        sum.threadgroups += one.threadgroups;
        sum.off_chip_threadgroups += one.off_chip_threadgroups;
        sum.culled_patches += one.culled_patches;
        sum.primitives += one.primitives;
        for (sum, one) in [(&mut sum.vertex, &one.vertex), (&mut sum.hull, &one.hull), (&mut sum.domain, &one.domain)] {
            sum.threads += one.threads;
            sum.waves += one.waves;
        }
        sum.on_chip_waves += one.on_chip_waves;
        sum.off_chip_waves += one.off_chip_waves;
        sum.off_chip_bytes += one.off_chip_bytes;
        sum.lds_bytes += one.lds_bytes;
        sum.average_factors.extend(&one.average_factors);
    }
    Some(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_draw_is_asked_about_once_and_old_answers_are_dropped() {
        let mut answers = Answers::<u32>::new();
        answers.begin(7, 2);
        let first = answers.question().expect("nothing was asked");
        answers.ask(first);
        let second = answers.question().expect("one is left");
        assert_eq!((first.draw, second.draw), (0, 1));
        answers.ask(second);
        assert_eq!(answers.question(), None);
        assert_eq!(answers.answer(first, Ok::<_, ()>(1)), None);
        assert!(!answers.are_all_there());
        // A failure is told, and asked about again.
        assert_eq!(answers.answer(second, Err("lost")), Some("lost"));
        assert_eq!(answers.question(), Some(second));
        answers.begin(8, 1);
        assert_eq!(answers.answer(second, Ok::<_, ()>(5)), None);
        assert_eq!(answers.answer(first, Err("of another frame")), None);
        assert_eq!((answers.answers.as_slice(), answers.question().map(|of| of.inputs)), (&[None][..], Some(8)));
    }

    #[test]
    fn statistics_add_up_once_all_are_there() {
        let one = Statistics { ia_primitives: 3, average_factors: vec![2.0], ..Statistics::default() };
        assert_eq!(together(&[Some(one.clone()), None]), None);
        let both = together(&[Some(one.clone()), Some(one)]).expect("both are there");
        assert_eq!((both.ia_primitives, both.mean_average_factor(), both.average_factors.len()), (6, 2.0, 2));
    }
}
