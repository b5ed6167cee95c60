import { randomBytes } from 'node:crypto'

/** 309 bytes of CBOR shaped like a transaction, so that they take the whole way into the queue. */
export const transactionShaped = Buffer.concat([
  Buffer.from('84a10059012c', 'hex'),
  randomBytes(300),
  Buffer.from('a0f5f6', 'hex'),
])
