/** The thread's program as built: tests run from source, which a thread of Node cannot. */
export const threadProgram = new URL('../../../dist/plutus/engine-thread.js', import.meta.url)
