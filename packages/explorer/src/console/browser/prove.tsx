import { useSignal } from '@preact/signals'
import type { TransactionProof, UtxoProof } from '@ratatosk/client'
import { read } from './api.js'
import { Outcome, useAction } from './controls.js'
import { counted } from './format.js'
import { Name } from './parts.js'
import { serves } from './router.js'

interface Proven {
  readonly what: string
  readonly headerHash: string
  readonly steps: number
}

type ProveProps =
  /** A transaction that a block has applied, and the header hash of the block. */
  | { readonly txHash: string; readonly headerHash: string }
  /** An output that is unspent in the newest committed state. */
  | { readonly outref: string }

/** Proves to this browser what the node says, against a header hash that layer 1 has. */
export function Prove(props: ProveProps) {
  const proven = useSignal<Proven | undefined>(undefined)
  const { runs, problem, run } = useAction()
  if (!serves('GET /proofs/transaction')) return null
  return (
    <div class="stack">
      <p class="row">
        <button
          type="button"
          id="prove"
          class="main"
          disabled={runs.value}
          onClick={() =>
            run(async () => {
              proven.value = undefined
              proven.value = await ('txHash' in props ? proveTransaction(props) : proveOutput(props.outref))
            })
          }
        >
          Prove it
        </button>
        <Outcome problem={problem.value}>
          {proven.value === undefined && 'this browser computes the root from the Merkle proof of the node'}
        </Outcome>
      </p>
      {proven.value && <Result proven={proven.value} />}
    </div>
  )
}

function Result({ proven: { what, headerHash, steps } }: { readonly proven: Proven }) {
  return (
    <p id="proof" role="status">
      <span class="state merged">proven</span> {what} of the block whose header has the hash{' '}
      <Name name={headerHash} page="block" />: {counted(steps, 'step')} of Blake2b lead to the root in that
      header. Compare the hash with the state queue on layer 1: the node need not be trusted.
    </p>
  )
}

async function proveTransaction({
  txHash,
  headerHash,
}: {
  txHash: string
  headerHash: string
}): Promise<Proven> {
  const path = `proofs/transaction?tx_hash=${txHash}&header_hash=${headerHash}`
  const [{ verifyTransactionProof }, proof] = await Promise.all([
    import('@ratatosk/client'),
    read<TransactionProof>(path),
  ])
  const result = verifyTransactionProof(proof, { txHash, headerHash })
  if (!result.isApplied) throw new Error('The proof shows that the block has not applied it')
  const what = `it is at position ${result.position}`
  return { what, headerHash, steps: proof.proof.json.length }
}

async function proveOutput(outref: string): Promise<Proven> {
  const [{ headerHashOf, verifyUtxoProof }, proof] = await Promise.all([
    import('@ratatosk/client'),
    read<UtxoProof>(`proofs/utxo?outref=${encodeURIComponent(outref)}&at=committed`),
  ])
  const headerHash = headerHashOf(proof.header ?? '')
  if (verifyUtxoProof(proof, { outref, headerHash }) === undefined)
    throw new Error('The proof shows that it is not unspent')
  return {
    what: 'it is unspent in the state',
    headerHash,
    steps: proof.proof.json.length,
  }
}
