import type { QueueReading } from '@ratatosk/audit'
import { surveyQueue } from '@ratatosk/contracts'
import { CommandError } from '../frame/errors.js'

/** The settings that are parameters of the contracts: with another value, one reads another deployment. */
const contractSettings = [
  ...['PROTOCOL', 'DEPLOYMENT_OUTPUT', 'MATURITY_WINDOW_MS', 'OPERATOR_TURN_MS', 'TAKEOVER_AFTER_MS'],
  ...['OPERATOR_BOND', 'SLASH_PENALTY', 'VERDICT_POLICIES', 'BRIDGE', 'EVENT_WAIT_MS', 'BRIDGED_POLICIES'],
  'the ADMIN_… settings',
]

/** The fault of a queue without any element. */
const absent = surveyQueue([], new Uint8Array()).fault?.message

const isAbsent = ({ fault, confirmed, blocks }: QueueReading): boolean =>
  fault === absent && confirmed === undefined && blocks.length === 0

/**
 * Refuses readings of a queue that was never there: the settings are wrong, and not the rollup.
 * One that was there and is gone remains a fault of the rollup.
 *
 * @param place of layer 1, for people
 * @throws CommandError (the function that it returns) `CLI_NO_QUEUE`, with exit status 3
 */
export function expectQueue(place: string): (reading: QueueReading) => QueueReading {
  let wasThere = false
  return (reading) => {
    if (!isAbsent(reading)) wasThere = true
    if (wasThere) return reading
    const names = contractSettings.join(', ')
    throw new CommandError(
      'CLI_NO_QUEUE',
      `Layer 1 (${place}) has no state queue for these contract settings: take ${names} from the operator.`,
      {},
      3,
    )
  }
}
