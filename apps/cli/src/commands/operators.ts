import type { Operators } from '@ratatosk/client'
import { ada } from '../frame/ada.js'
import { command } from '../frame/command.js'
import { connect, nodeArguments } from '../frame/node-connection.js'

export const operators = command(
  'operators',
  'List the operators on layer 1, their bonds and turns',
  nodeArguments,
  async (args, shell) => {
    const value = await (await connect(args, shell)).listOperators()
    return { value, lines: linesOf(value) }
  },
)

function linesOf({ inTurn, next, turnEndsAt, takeOverAt, operators: listed }: Operators) {
  return [
    `in turn    ${inTurn ?? 'no operator'}, until ${turnEndsAt}`,
    `next       ${next ?? 'no operator'}`,
    ...(takeOverAt === undefined ? [] : [`take-over  by any of them from ${takeOverAt}, if no block comes`]),
    ...listed.map(lineOf),
  ]
}

function lineOf({ operatorKey, bond, activeFrom, activeUntil, releaseAt }: Operators['operators'][number]) {
  const retired = activeUntil === undefined ? '' : ` until ${activeUntil}, bond free from ${releaseAt}`
  return `${operatorKey}  ${ada(bond)}  from ${activeFrom}${retired}`
}
