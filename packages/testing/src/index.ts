export { type SavedState, startNode, type TestNode, type TestNodeOptions } from './start-node.js'
export type { FundedWallet } from './wallets.js'
