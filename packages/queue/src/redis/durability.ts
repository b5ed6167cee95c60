import type { QueueWarning } from '../types.js'

/** What Redis tells by INFO, compared with what an accepted job needs to survive; empty where it does not tell. */
export function durabilityWarnings(info: string): QueueWarning[] {
  const warnings: QueueWarning[] = []
  if (/^aof_enabled:0/m.test(info)) {
    warnings.push({
      code: 'REDIS_NOT_PERSISTENT',
      message:
        'Redis keeps no append-only file: set "appendonly yes", or a crash of Redis loses accepted jobs',
    })
  }
  const policy = /^maxmemory_policy:(\S+)/m.exec(info)?.[1]
  if (policy !== undefined && policy !== 'noeviction') {
    warnings.push({
      code: 'REDIS_MAY_EVICT',
      message: `Redis may evict jobs when its memory is full (${policy}): set "maxmemory-policy noeviction"`,
    })
  }
  return warnings
}
