/** The compiled program of the thread: tests run from source, but a thread of Node.js cannot. */
export const threadProgram = new URL('../../../dist/plutus/engine-thread.js', import.meta.url)

/** The compiled program of a thread with a third-party engine. */
export const secondOpinionProgram = new URL(
  '../../../dist/plutus/test/second-opinion-thread.js',
  import.meta.url,
)
