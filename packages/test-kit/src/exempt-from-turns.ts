/** Tests whose servers may take long turns of the event loop, each with its reason. */
const exempt: Readonly<Record<string, string>> = {
  'layer2-outputs.tap.js': 'one query of the embedded database reads a page of thousands of outputs',
}

/** Whether a test's program, such as `apps/node/dist/e2e/start.tap.js`, is exempt. */
export function mayTakeLongTurns(program = ''): boolean {
  return Object.keys(exempt).some((file) => program.endsWith(file))
}
