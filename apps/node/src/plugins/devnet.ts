import { type ControlOptions, DevnetError } from '@ratatosk/devnet'
import { operatorRoute } from '@ratatosk/http'
import type { Node } from '../node.js'
import { operatorAccess } from './operator.js'

/** The controls of the devnet, under the origin of the node and with the guards of an operator's routes. */
export function devnetControlOptions({
  settings,
  settlement,
  sequencer,
}: Node): ControlOptions & { prefix: string } {
  return {
    prefix: '/devnet',
    route: operatorRoute(operatorAccess(settings)),
    ...(sequencer && { sequencer }),
    devnet() {
      const devnet = settlement?.devnet?.()
      if (devnet !== undefined) return devnet
      throw new DevnetError('DEVNET_ELSEWHERE', 'Another process hosts the devnet: use the controls there')
    },
  }
}
