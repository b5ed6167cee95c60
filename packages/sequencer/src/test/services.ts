import { openQueueBackend } from '@ratatosk/queue'
import { openStore } from '@ratatosk/store'
import { serviceOpeners } from '@ratatosk/test-kit/vitest'

export const openers = serviceOpeners({ openStore, openQueueBackend })
