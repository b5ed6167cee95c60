import { isBlockError } from '@ratatosk/block'
import { CborWriter } from '@ratatosk/cbor'
import { openRoots } from '../open-roots.js'

// Run by a test with little memory: applies a block of the given bytes that spends as many outputs as fit
// into it, none of which exists, and says why it is refused.
const bytes = Number(process.argv[2])
const inputs = 30
const transactions: Uint8Array[] = []
for (let size = 0; size < bytes; size += transactions[0]?.length ?? bytes) {
  const cbor = new CborWriter().array(4).map(3).uint(0).array(inputs)
  for (let input = 0; input < inputs; input += 1) {
    const id = new Uint8Array(32)
    new DataView(id.buffer).setUint32(0, transactions.length * inputs + input)
    cbor.array(2).bytes(id).uint(0)
  }
  transactions.push(cbor.uint(1).array(0).uint(2).uint(0).map(0).raw(Uint8Array.of(0xf5, 0xf6)).toBytes())
}

const roots = await openRoots()
const before = await roots.root()
const refusal = await roots.apply(transactions).catch((error: unknown) => error)
if (!isBlockError(refusal)) throw refusal
process.send?.({ code: refusal.code, isUnchanged: Buffer.compare(before, await roots.root()) === 0 })
await roots.close()
