import { deploymentArguments, readDeployment } from '../deployment/read-deployment.js'
import type { Verification } from '../deployment/verify-block.js'
import { command } from '../frame/command.js'
import { createProgress } from '../frame/terminal.js'

export const verify = command(
  'verify',
  'Judge a block from layer 1 and an archivist, without a node',
  {
    ...deploymentArguments,
    block: { type: 'positional', required: true, description: 'Height or header hash' },
  },
  async (args, shell) => {
    const [{ findBlock, judged, parseBlock, verifyBlock }, { createEvaluator }] = await Promise.all([
      import('../deployment/verify-block.js'),
      import('@ratatosk/ledger/plutus'),
    ])
    const wanted = parseBlock(args.block)
    const deployment = await readDeployment(args, shell)
    const { readQueue, archivist, archivistUrl, place, rules } = deployment
    const progress = createProgress(shell)
    const evaluator = createEvaluator()
    try {
      const block = await findBlock(wanted, await readQueue(), archivist, (height) =>
        progress.show(`header ${height}`),
      )
      const verdict = await verifyBlock(block, deployment, { ...rules, evaluator }, (height) =>
        progress.show(`body ${height} of ${block.height}`),
      )
      const value = {
        ...verdict,
        height: block.height,
        headerHash: Buffer.from(block.headerHash).toString('hex'),
        isMerged: block.isMerged,
        layer1: place,
        archivist: archivistUrl,
        judged,
      }
      return { value, lines: linesOf(value), ok: verdict.verdict === 'valid' }
    } finally {
      progress.clear()
      await evaluator.close()
    }
  },
)

interface VerifiedBlock extends Verification {
  readonly height: number
  readonly headerHash: string
  readonly isMerged: boolean
  readonly layer1: string
  readonly archivist: string
  readonly judged: readonly string[]
}

function linesOf(block: VerifiedBlock): readonly string[] {
  const { verdict, height, headerHash, transactions, isMerged, reason, failures = [] } = block
  const what = verdict === 'another body' ? 'not judged, the archivist serves another body' : verdict
  return [
    `block ${height} (${headerHash}): ${what}`,
    ...(reason === undefined ? [] : [reason]),
    ...failures.slice(1).map(({ predicate, message }) => `also ${predicate}: ${message}`),
    `${transactions} transactions; ${isMerged ? 'merged' : 'in the state queue'} on layer 1`,
    `header from ${block.layer1}, bodies from ${block.archivist}`,
    'judged until the first failure:',
    ...block.judged.map((each) => `  ${each}`),
  ]
}
