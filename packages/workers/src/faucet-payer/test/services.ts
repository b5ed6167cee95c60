import { openQueueBackend, type QueueBackend } from '@ratatosk/queue'
import { openStore, type Store } from '@ratatosk/store'
import { type OpenedServices, serviceOpeners } from '@ratatosk/test-kit/vitest'

export type Services = OpenedServices<Store, QueueBackend>

export const openers = serviceOpeners({ openStore, openQueueBackend })
