export { createWatcher } from './create-watcher.js'
export type {
  DisputedBlock,
  QuestionCounts,
  Summon,
  SummonResult,
  Watcher,
  WatcherOptions,
  WatcherStatus,
  WatcherStep,
} from './types.js'
