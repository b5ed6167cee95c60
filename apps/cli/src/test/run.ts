import type { Shell } from '../frame/command.js'
import { runCli } from '../index.js'

export interface Run {
  readonly status: number
  readonly out: string
  readonly error: string
}

/** Runs a command line in this process. */
export async function run(
  argv: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  terminal: Pick<Shell, 'ask'> = {},
): Promise<Run> {
  let [out, error] = ['', '']
  const status = await runCli(argv, {
    ...terminal,
    environment,
    write: (text) => {
      out += text
    },
    writeError: (text) => {
      error += text
    },
  })
  return { status, out, error }
}
