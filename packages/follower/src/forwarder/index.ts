export { createForwarder } from './create-forwarder.js'
export type { Forwarder, ForwarderOptions, ForwardOutcome, Mempool, MempoolTransaction } from './types.js'
