import { isQueueError } from '@ratatosk/queue'
import { maskedUrl } from '../settings/read.js'
import type { Settings } from '../settings/schema.js'
import { openRedisQueue } from '../storage/open-storage.js'
import { about, type NodeFinding } from './finding.js'

const { ok, warning, failed } = about('Redis')

/** Asks Redis whether it can hold the queue. Creates nothing. */
export async function checkRedis(settings: Settings, url: string): Promise<readonly NodeFinding[]> {
  const place = maskedUrl(url)
  try {
    const queue = await openRedisQueue(settings, url)
    const warnings = queue.warnings()
    await queue.close()
    const found = warnings.map(({ code, message }) =>
      // A queue that evicts loses accepted transactions without a crash.
      (code === 'QUEUE_REDIS_MAY_EVICT' ? failed : warning)(`${place}: ${message}.`),
    )
    return found.some(({ status }) => status === 'failed') ? found : [ok(place), ...found]
  } catch (error) {
    if (!isQueueError(error)) throw error
    return [failed(`${place}: ${error.message}. Start Redis, or correct REDIS_URL.`)]
  }
}
