import { randomBytes } from 'node:crypto'

/** 309 bytes of CBOR shaped like a transaction, so that they take the whole way into the queue. */
export const transactionShaped = Buffer.concat([
  Buffer.from('84a10059012c', 'hex'),
  randomBytes(300),
  Buffer.from('a0f5f6', 'hex'),
])

/** As long: one byte string, well formed and no transaction. */
export const byteString = Buffer.concat([Buffer.from('590132', 'hex'), randomBytes(306)])
