import type { Breach } from '../breach.js'
import { payBreaches } from './pay-breaches.js'
import { paymentBreaches } from './payment-breaches.js'
import { followBreaches, settleBreaches } from './settle-breaches.js'
import { treasuryBreaches } from './treasury-breaches.js'

export const bridgeBreaches: readonly Breach[] = [
  ...settleBreaches,
  ...followBreaches,
  ...payBreaches,
  ...paymentBreaches,
  ...treasuryBreaches,
]
