export {
  createForwarder,
  type Forwarder,
  type ForwarderOptions,
  type ForwardOutcome,
  type Mempool,
  type MempoolTransaction,
} from './create-forwarder.js'
