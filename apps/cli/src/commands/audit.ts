import type { AuditReport, Finding } from '@ratatosk/audit'
import { acceptedBy, nodeSource } from '../deployment/node-source.js'
import { deploymentArguments, readDeployment } from '../deployment/read-deployment.js'
import { ada } from '../frame/ada.js'
import { command } from '../frame/command.js'
import { connect, nodeArguments } from '../frame/node-connection.js'
import { createProgress } from '../frame/progress.js'

/** `ratatosk audit` */
export const auditCommand = command(
  'audit',
  'Derive the ledger once more from layer 1 and an archivist, and compare',
  {
    ...deploymentArguments,
    url: { ...nodeArguments.url, description: 'A node whose queue, blocks and statuses are compared too' },
    timeout: nodeArguments.timeout,
  },
  async (args, shell) => {
    const { readQueue, archivist, genesis } = await readDeployment(args, shell)
    const client = args.url === undefined ? undefined : await connect(args, shell)
    const { audit } = await import('@ratatosk/audit')
    const progress = createProgress(shell)
    const report = await audit({
      layer1: { read: readQueue },
      archivist,
      genesis,
      ...(client && { node: nodeSource(client), accepted: acceptedBy(client) }),
      onProgress: ({ height, transactions }) =>
        progress.show(`block ${height}, ${transactions} transactions`),
    })
    progress.clear()
    return { value: jsonOf(report), lines: linesOfReport(report), ok: report.verdict === 'clean' }
  },
)

/** JSON has no numbers of 64 bits. */
function jsonOf({ lovelace, ...report }: AuditReport) {
  const { genesis, fees, unspent } = lovelace
  return {
    ...report,
    lovelace: { genesis: String(genesis), fees: String(fees), unspent: String(unspent) },
  }
}

function linesOfReport({
  verdict,
  findings,
  omittedFindings,
  unchecked,
  counts,
  lovelace: { genesis, fees, unspent },
  utxosRoot,
}: AuditReport): readonly string[] {
  const lines = [
    `${verdict}: ${counted(findings.length + omittedFindings, 'finding')}`,
    `blocks        ${counts.blocks}, of which ${counts.merged} merged, ${counts.bodyBytes} bytes`,
    `transactions  ${counts.transactions} in blocks, ${counts.waiting} waiting`,
    `outputs       ${counts.unspentOutputs} unspent, root ${utxosRoot}`,
    `value         genesis ${ada(genesis)}, fees ${ada(fees)}, unspent ${ada(unspent)}`,
    ...findings.flatMap(linesOf),
  ]
  if (omittedFindings > 0) lines.push(`and ${counted(omittedFindings, 'further finding')}`)
  for (const { what, why } of unchecked) lines.push(`NOT CHECKED  ${what}: ${why}`)
  return lines
}

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`

function linesOf({ kind, message, block, expected, found }: Finding): readonly string[] {
  const place = block === undefined ? '' : `  block ${block.height} (${block.headerHash})`
  return [
    `FOUND  ${kind}${place}: ${message}`,
    ...(expected === undefined ? [] : [`       expected ${expected}`]),
    ...(found === undefined ? [] : [`       found    ${found}`]),
  ]
}
