import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import type { AuditReport, BlockJudge, Finding } from '@ratatosk/audit'
import { type BlockRules, decodeHeader, isBlockError, judgeBlock } from '@ratatosk/block'
import { decodeTransactionOutput } from '@ratatosk/ledger'
import { deploymentArguments, readDeployment } from '../deployment/read-deployment.js'
import { type CommandResult, command } from '../frame/command.js'
import { CommandError, UsageError } from '../frame/errors.js'
import { connect, nodeArguments, timeoutMsOf } from '../frame/node-connection.js'
import { createProgress } from '../frame/terminal.js'
import { ada, counted } from '../frame/text.js'

export const auditCommand = command(
  'audit',
  'Derive the ledger once more from layer 1 and an archivist, judge its blocks, and compare a node',
  {
    ...deploymentArguments,
    url: {
      ...nodeArguments.url,
      description: 'A node whose queue, blocks, statuses and outputs are compared',
    },
    accepted: {
      type: 'string',
      valueHint: 'path',
      description: 'File with ids of accepted transactions, one a line: each must be in a place',
    },
    backed: {
      type: 'string',
      valueHint: 'lovelace',
      default: '0',
      description: 'How much of the genesis is backed by reserves of the bridge',
    },
    timeout: nodeArguments.timeout,
  },
  async (args, shell) => {
    const { readQueueAndBridge, archivist, genesis, rules } = await readDeployment(args, shell)
    const { url, accepted: file } = args
    const backed = lovelaceOf(args.backed)
    const client = url === undefined ? undefined : await connect(args, shell)
    const [{ audit }, { acceptedBy, nodeSource }, { createEvaluator }] = await Promise.all([
      import('@ratatosk/audit'),
      import('@ratatosk/audit/node'),
      import('@ratatosk/ledger/plutus'),
    ])
    const progress = createProgress(shell)
    const evaluator = createEvaluator()
    try {
      const report = await audit({
        layer1: { read: readQueueAndBridge },
        archivist,
        genesis,
        bridge: rules.bridge,
        backed,
        judge: judgeWith({ ...rules, evaluator }),
        ...(client && url !== undefined && { node: nodeSource(client, url, { stallMs: timeoutMsOf(args) }) }),
        ...((client || file !== undefined) && {
          accepted: both(file === undefined ? [] : acceptedIn(file), client ? acceptedBy(client) : []),
        }),
        onProgress: ({ height, transactions }) =>
          progress.show(`block ${height}, ${transactions} transactions`),
      })
      return { value: jsonOf(report), lines: linesOfReport(report), ...statusOf(report) }
    } finally {
      progress.clear()
      await evaluator.close()
    }
  },
)

type Ids = Iterable<string> | AsyncIterable<string>

async function* both(first: Ids, second: Ids): AsyncGenerator<string, void> {
  yield* first
  yield* second
}

function statusOf({ verdict }: AuditReport): Pick<CommandResult, 'ok' | 'status'> {
  return { ok: verdict === 'clean', status: verdict === 'incomplete' ? 3 : 1 }
}

/** @throws UsageError */
function lovelaceOf(text: string): bigint {
  if (/^[0-9]{1,17}$/.test(text)) return BigInt(text)
  throw new UsageError(`--backed ${text} is no amount of lovelace.`)
}

/** JSON has no numbers of 64 bits. */
function jsonOf({ lovelace, treasury, ...report }: AuditReport) {
  return {
    ...report,
    lovelace: textsOf(lovelace),
    ...(treasury && { treasury: { ...textsOf(treasury), waitingDeposits: treasury.waitingDeposits } }),
  }
}

const textsOf = (amounts: Readonly<Record<string, bigint | number>>) =>
  Object.fromEntries(Object.entries(amounts).map(([name, amount]) => [name, String(amount)]))

export function linesOfReport({
  verdict,
  findings,
  omittedFindings,
  unchecked,
  counts,
  lovelace: { genesis, fees, paid, deposited, withdrawn, unspent },
  treasury,
  utxosRoot,
}: AuditReport): readonly string[] {
  const lines = [
    `${verdict}: ${counted(findings.length + omittedFindings, 'finding')}`,
    `blocks        ${counts.blocks}, of which ${counts.merged} merged, ${counts.bodyBytes} bytes`,
    `transactions  ${counts.transactions} in blocks, ${counts.waiting} waiting`,
    `outputs       ${counts.unspentOutputs} unspent, root ${utxosRoot}`,
    `value         genesis ${ada(genesis)}, fees ${ada(fees)}, unspent ${ada(unspent)}`,
    ...(deposited + withdrawn + paid > 0n
      ? [
          `bridge        deposits ${ada(deposited)}, withdrawals ${ada(withdrawn)}, ` +
            `fees paid to operators ${ada(paid)}`,
        ]
      : []),
    ...(treasury
      ? [
          `treasury      ${ada(treasury.held)}, ${claimsText(treasury.claims)}, owed ${ada(treasury.owed)}` +
            `, ${counted(treasury.waitingDeposits, 'deposit')} waiting with ${ada(treasury.waiting)}`,
        ]
      : []),
    ...findings.flatMap(linesOf),
  ]
  if (omittedFindings > 0) lines.push(`and ${counted(omittedFindings, 'further finding')}`)
  for (const { what, why } of unchecked) lines.push(`NOT CHECKED  ${what}: ${why}`)
  return lines
}

/** The genesis that is not backed can be withdrawn, too. */
const claimsText = (claims: bigint): string =>
  claims < 0n
    ? `no claims: ${ada(-claims)} more were paid out than deposited and --backed`
    : `claims ${ada(claims)}`

function linesOf({ kind, message, block, expected, found }: Finding): readonly string[] {
  const place = block === undefined ? '' : `  block ${block.height} (${block.headerHash})`
  return [
    `FOUND  ${kind}${place}: ${message}`,
    ...(expected === undefined ? [] : [`       expected ${expected}`]),
    ...(found === undefined ? [] : [`       found    ${found}`]),
  ]
}

/** Ids of a file, one a line. @throws CommandError */
async function* acceptedIn(file: string): AsyncGenerator<string, void> {
  let line = 0
  try {
    const input = createReadStream(file, 'utf8')
    for await (const text of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
      line++
      if (text.trim() === '') continue
      if (!/^[0-9a-f]{64}$/i.test(text.trim()))
        throw new CommandError('CLI_FILE', `Line ${line} of "${file}" is no transaction id of 64 hex digits.`)
      yield text.trim()
    }
  } catch (error) {
    if (!(error instanceof Error && 'errno' in error)) throw error
    throw new CommandError('CLI_FILE', `The file "${file}" cannot be read: ${error.message}`)
  }
}

/** Judges blocks by the rules that every node judges them by. */
export function judgeWith(rules: BlockRules): BlockJudge {
  return async ({ header, transactions, deposits, unspent }) => {
    const before = {
      get: (key: string) => {
        const output = unspent(key)
        return output && decodeTransactionOutput(output)
      },
    }
    try {
      await judgeBlock(transactions, decodeHeader(header), before, rules, undefined, deposits)
      return undefined
    } catch (error) {
      if (!isBlockError(error)) throw error
      const { message, position } = error
      return { message, ...(position !== undefined && { position }) }
    }
  }
}
