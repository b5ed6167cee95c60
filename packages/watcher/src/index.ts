export { createWatcher } from './create-watcher.js'
export type { UnprovableBlock, Watcher, WatcherOptions, WatcherStatus, WatcherStep } from './types.js'
