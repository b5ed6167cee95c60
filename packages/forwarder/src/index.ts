export { createForwarder } from './create-forwarder.js'
export type { Forwarder, ForwarderOptions, Mempool, MempoolTransaction, Outcome } from './types.js'
