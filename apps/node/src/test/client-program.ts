import { createClient, RejectedError, verifyTransactionProof, verifyUtxoProof } from '@ratatosk/client'

/** The means of a program to use a node as its clients do. */
export interface Task {
  readonly url: string
  /** A valid transaction, in hex, and its hash. */
  readonly transaction: string
  readonly txHash: string
  /** The output that it spends, as `<tx_hash>#<index>`. */
  readonly spent: string
  /** A transaction that is rejected, in hex, and its hash. */
  readonly invalid: string
  readonly invalidHash: string
}

/** Runs unchanged in Node.js, in a worker thread, and in a browser, where it is bundled. */
export async function useClient({ url, transaction, txHash, spent, invalid, invalidHash }: Task) {
  const client = createClient(url)
  const told: string[] = []
  const events = (async () => {
    for await (const event of client.streamEvents({ tx_hash: txHash, after: '0.0.0' })) {
      told.push(event.type === 'block' ? event.data.state : event.type)
      if (told.at(-1) === 'merged') return
    }
  })()
  const { id } = await client.submit(transaction)
  const accepted = await client.awaitTx(txHash, { submissionId: id })
  const merged = await client.awaitTx(txHash, { finality: 'merged' })
  await events

  const rejected = await client.submit(invalid)
  const refusal = await client
    .awaitTx(invalidHash, { submissionId: rejected.id })
    .catch((error: unknown) => (error instanceof RejectedError ? error.failures : error))

  const headerHash = merged.block?.headerHash ?? ''
  const asked = { header_hash: headerHash }
  const [output, gone, applied, absent] = [
    await client.proveUtxo({ outref: `${txHash}#0`, ...asked }),
    await client.proveUtxo({ outref: spent, ...asked }),
    await client.proveTransaction({ tx_hash: txHash, ...asked }),
    await client.proveTransaction({ tx_hash: invalidHash, ...asked }),
  ]
  return {
    accepted: accepted.acceptedAt !== undefined,
    merged: merged.status,
    told,
    refusal: Array.isArray(refusal) ? refusal.map(({ predicate }) => predicate) : String(refusal),
    output: verifyUtxoProof(output, { outref: `${txHash}#0`, headerHash }) !== undefined,
    spent: verifyUtxoProof(gone, { outref: spent, headerHash }) ?? 'absent',
    applied: verifyTransactionProof(applied, { txHash, headerHash }),
    notApplied: verifyTransactionProof(absent, { txHash: invalidHash, headerHash }),
    position: merged.block?.position,
  }
}
