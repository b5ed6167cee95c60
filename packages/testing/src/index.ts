export {
  type FundedWallet,
  type SavedState,
  startNode,
  type TestNode,
  type TestNodeOptions,
} from './start-node.js'
