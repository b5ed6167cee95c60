/** Tests whose servers may take long turns of the event loop, each with its reason. */
const exempt: Readonly<Record<string, string>> = {}

/** Whether a test's program, such as `apps/node/dist/e2e/start.tap.js`, is exempt. */
export function mayTakeLongTurns(program = ''): boolean {
  return Object.keys(exempt).some((file) => program.endsWith(file))
}
