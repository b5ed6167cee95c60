import { readFileSync } from 'node:fs'
import { nodeVersionProblem } from './node-version.js'

interface CommandLineAnswer {
  readonly text: string
  readonly exitCode: 0 | 1 | 2
}

const usage = `Usage: ratatosk-node [--help | --version]

Starts a Ratatosk node. Settings are environment variables, such as
  PORT=3000 NODE_ROLE=all NETWORK=devnet DATA_DIR=.ratatosk
All settings: https://github.com/ratatosk-l2/ratatosk/blob/main/docs/settings.md

  -h, --help      print this text
  -v, --version   print the version
`

/** The answer to arguments; undefined without any, which starts the node. `node`: the version of Node.js. */
export function answerCommandLine(args: readonly string[], node: string): CommandLineAnswer | undefined {
  const problem = nodeVersionProblem(node)
  if (problem !== undefined) return { text: `${problem}\n`, exitCode: 1 }
  if (args.length === 0) return undefined
  const unknown = args.find((arg) => !['-h', '--help', '-v', '--version'].includes(arg))
  if (unknown !== undefined) {
    return { text: `Unknown argument: ${unknown}\n\n${usage}`, exitCode: 2 }
  }
  if (args.includes('-h') || args.includes('--help')) return { text: usage, exitCode: 0 }
  return { text: `${nodeVersion()}\n`, exitCode: 0 }
}

export function nodeVersion(): string {
  const manifest = new URL('../package.json', import.meta.url)
  const { version }: { version: string } = JSON.parse(readFileSync(manifest, 'utf8'))
  return version
}
