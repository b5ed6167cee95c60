export {
  type BridgeState,
  type DepositOutput,
  paysBridge,
  readBridge,
  type Settlement,
} from './bridge.js'
export { burnElements, dustOf, maxBurnedElements } from './burn-drafts.js'
export {
  administratorAddress,
  type Bridge,
  type BridgeTerms,
  type Contract,
  type ContractName,
  type ContractParameters,
  type Contracts,
  inOrder,
  openContracts,
  provideScripts,
  publishScripts,
  referenceScriptsOf,
  type ScriptPlace,
  scriptsToPublish,
  takeOverAfterOf,
  verdictPoliciesOf,
} from './contracts.js'
export {
  type BuiltDeposit,
  buildDeposit,
  type DepositBuilder,
  type DepositDraft,
  type DepositRequest,
  draftDeposit,
} from './deposit-drafts.js'
export { isProtocolError, ProtocolError, type ProtocolErrorCode } from './errors.js'
export { type BridgeEvents, type BridgeReading, type EventReads, openEventSource } from './event-source.js'
export {
  type OpenQuestion,
  type QuestionSurvey,
  readQuestions,
  surveyQuestions,
  unreadLine,
} from './open-questions.js'
export {
  type OwedWithdrawal,
  type ProvenWithdrawal,
  type TakenWithdrawals,
  takeOwed,
} from './owed-map.js'
export { type Payout, payWithdrawals, type Tidying, tidyDeposits } from './payout-drafts.js'
export { type Commit, commitBlock, initQueue, initRollup, type Merge, mergeBlock } from './queue-drafts.js'
export {
  initRegistry,
  type RegistryElement,
  readRegistry,
  registerOperator,
  releaseBond,
  retireOperator,
  type Validity,
} from './registry-drafts.js'
export {
  holdsVerdict,
  maxPrunedBlocks,
  pruneBlocks,
  type RemovalByVerdict,
  removeBlock,
  removeInvalidBlock,
  type StaleBlocks,
  soundBlocks,
  staleBlocks,
  type Verdict,
} from './removal-drafts.js'
export { firstSlotFrom } from './slots.js'
export {
  allElements,
  type BlockElement,
  type RootElement,
  readStateQueue,
  type StateQueue,
  soundRoot,
  tokenOfBlock,
} from './state-queue.js'
export {
  type Answering,
  type Asking,
  answerQuestion,
  askQuestions,
  endQuestion,
  mostInAsking,
  mostInReclaim,
  type Reclaiming,
  reclaimQuestions,
  rewardOf,
  staleFrom,
} from './summons-drafts.js'
export {
  answersPerHour,
  largestBond,
  leastPenalty,
  leastReserve,
  lostBehind,
  patienceOf,
  summonsTerms,
} from './summons-terms.js'
export { readWithdrawal, type Withdrawal, withdrawalFault } from './withdrawals.js'
