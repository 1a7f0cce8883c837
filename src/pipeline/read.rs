//! Reading buffers back, when the caller asks for it: copies, one submission, one-shot channels over the map callbacks.

use futures_intrusive::channel::shared::{OneshotReceiver, oneshot_channel};

use super::device::{buffer, guarded};
use crate::Error;

type MapResult = Result<(), wgpu::BufferAsyncError>;

/// A range of a buffer to read.
pub(crate) struct Source<'a> {
    pub(crate) buffer: &'a wgpu::Buffer,
    pub(crate) offset: u64,
    pub(crate) size: u64,
}

/// Ranges under way from the GPU.
pub(crate) struct Reading {
    what: &'static str,
    parts: Vec<Option<(wgpu::Buffer, OneshotReceiver<MapResult>)>>,
}

impl Reading {
    /// Copies `sources` after what `encoder` holds already, submits, and asks for the copies to be mapped.
    pub(crate) fn submit(
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        mut encoder: wgpu::CommandEncoder,
        what: &'static str,
        sources: &[Source<'_>],
    ) -> Result<Self, Error> {
        let usage = wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ;
        let mut buffers = Vec::with_capacity(sources.len());
        for source in sources {
            if source.size == 0 {
                buffers.push(None);
                continue;
            }
            buffers.push(Some(buffer(device, what, source.size, usage)?));
        }
        // Results of another device, or of a workspace that has gone on since, may not lie where they should.
        guarded(device, what, || {
            for (source, copy) in sources.iter().zip(&buffers) {
                if let Some(copy) = copy {
                    encoder.copy_buffer_to_buffer(source.buffer, source.offset, copy, 0, Some(source.size));
                }
            }
            queue.submit([encoder.finish()]);
        })?;
        let map = |copy: wgpu::Buffer| {
            let (sender, receiver) = oneshot_channel();
            // On a device that is lost the copy may never have been made; the callback says so, or its sender is gone.
            let _ = guarded(device, what, || {
                copy.slice(..).map_async(wgpu::MapMode::Read, move |outcome| {
                    // A receiver that is gone does not want the answer.
                    let _ = sender.send(outcome);
                });
            });
            (copy, receiver)
        };
        Ok(Self { what, parts: buffers.into_iter().map(|copy| copy.map(map)).collect() })
    }

    /// The bytes of each source. On native backends somebody has to poll the device meanwhile;
    /// [`Reading::wait`] does.
    pub(crate) async fn bytes(self) -> Result<Vec<Vec<u8>>, Error> {
        let what = self.what;
        let failed = |reason: String| Error::ReadBack { what, reason };
        let mut all = Vec::with_capacity(self.parts.len());
        for part in self.parts {
            let Some((copy, receiver)) = part else {
                all.push(Vec::new());
                continue;
            };
            match receiver.receive().await {
                Some(Ok(())) => {}
                Some(Err(error)) => return Err(failed(error.to_string())),
                None => return Err(failed("the device was lost".to_owned())),
            }
            let bytes = copy.get_mapped_range(..).map_err(|error| failed(error.to_string()))?.to_vec();
            copy.unmap();
            all.push(bytes);
        }
        Ok(all)
    }

    /// Waits until the GPU is through, so that [`Reading::bytes`] is ready at once.
    #[cfg(feature = "blocking")]
    pub(crate) fn wait(&self, device: &wgpu::Device) -> Result<(), Error> {
        device
            .poll(wgpu::PollType::wait_indefinitely())
            .map(|_| ())
            .map_err(|error| Error::ReadBack { what: self.what, reason: error.to_string() })
    }
}
