import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { command, wholeNumber } from '../frame/command.js'
import { CommandError } from '../frame/errors.js'
import { connect, nodeArguments } from '../frame/node-connection.js'
import { createProgress } from '../frame/terminal.js'
import { visible } from '../frame/text.js'
import { type Refusal, type SubmitReport, submitAll } from '../layer2/submit-all.js'

export const submit = command(
  'submit',
  'Submit the transactions of a file, one per line in hex, in order; again, it changes nothing',
  {
    file: { type: 'positional', required: true, description: 'File with the transactions' },
    'from-line': {
      type: 'string',
      valueHint: 'number',
      default: '1',
      description: 'The first line to submit, from 1',
    },
    ...nodeArguments,
  },
  async (args, shell) => {
    const fromLine = wholeNumber('from-line', args['from-line'], Number.MAX_SAFE_INTEGER)
    const client = await connect(args, shell)
    const progress = createProgress(shell)
    const onProgress = ({ submitted, accepted }: SubmitReport) =>
      progress.show(`${submitted} submitted, ${accepted} accepted`)
    const onRetry = (reason: string, leftMs: number) => {
      progress.clear()
      shell.writeError(`${visible(reason)}. Trying again for up to ${Math.ceil(leftMs / 1000)} s.\n`)
    }
    const lines = linesOf(args.file)
    const report = await submitAll(client, lines, { fromLine, onProgress, onRetry }).finally(progress.clear)
    if (report.submitted === 0 && report.stopped === undefined)
      throw new CommandError(
        'CLI_FILE',
        `"${args.file}" has no transaction from line ${fromLine} on: nothing was sent.`,
      )
    const ok = report.accepted === report.submitted && report.stopped === undefined
    return { value: report, lines: linesOfReport(report), ok }
  },
)

async function* linesOf(file: string): AsyncGenerator<string, void> {
  try {
    const input = createReadStream(file, 'utf8')
    yield* createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })
  } catch (error) {
    if (!(error instanceof Error && 'errno' in error)) throw error
    throw new CommandError('CLI_FILE', `The file "${file}" cannot be read: ${error.message}`)
  }
}

function linesOfReport({ submitted, accepted, refused, refusals, stopped }: SubmitReport) {
  const lines = [`submitted ${submitted}, accepted ${accepted}, refused ${refused}`, ...refusals.map(lineOf)]
  if (refused > refusals.length) lines.push(`and ${refused - refusals.length} more`)
  if (stopped !== undefined)
    lines.push(
      `stopped: ${stopped.code}: ${stopped.message}`,
      `To submit the rest, add --from-line ${stopped.line}.`,
    )
  return lines
}

function lineOf({ line, code, message }: Refusal): string {
  return `line ${line}: ${code}: ${message}`
}
