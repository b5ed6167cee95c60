export { createWatcher } from './create-watcher.js'
export type { DisputedBlock, Watcher, WatcherOptions, WatcherStatus, WatcherStep } from './types.js'
