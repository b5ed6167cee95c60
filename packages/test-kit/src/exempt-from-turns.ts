/** Tests whose servers may take long turns of the event loop: a part of their path, and the reason. */
const exempt: Readonly<Record<string, string>> = {
  '/apps/node/dist/e2e/': 'several nodes share a process, and an embedded database starts in one turn',
  '/apps/cli/dist/demo/fraud.full.tap.js': 'the demonstration runs three nodes in one process',
  '/examples/': 'as those of apps/node',
}

/** Whether a test's program, such as `/…/apps/node/dist/e2e/start.tap.js`, is exempt. */
export function mayTakeLongTurns(program = ''): boolean {
  return Object.keys(exempt).some((part) => program.includes(part))
}
