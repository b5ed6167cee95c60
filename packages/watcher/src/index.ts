export { createWatcher } from './create-watcher.js'
export type {
  DisputedBlock,
  QuestionCounts,
  Watcher,
  WatcherOptions,
  WatcherStatus,
  WatcherStep,
} from './types.js'
