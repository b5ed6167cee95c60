import type { Breach } from '../breach.js'
import { answerBreaches } from './answer-breaches.js'
import { askBreaches } from './ask-breaches.js'
import { settleBreaches } from './settle-breaches.js'

export const summonsBreaches: readonly Breach[] = [...askBreaches, ...settleBreaches, ...answerBreaches]
