/** The thread's program as built: tests run from source, which a thread of Node cannot. */
export const threadProgram = new URL('../../../dist/plutus/engine-thread.js', import.meta.url)

/** Likewise the one with the engines of others. */
export const secondOpinionProgram = new URL(
  '../../../dist/plutus/test/second-opinion-thread.js',
  import.meta.url,
)
