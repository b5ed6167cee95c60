import type { Log } from '@ratatosk/ports'
import { ProtocolError } from '@ratatosk/protocol'
import { expect, test } from 'vitest'
import { beforeInit } from './following.js'

test('a state queue that is not begun yet is information without a stack, a broken one a failure', () => {
  const lines: unknown[] = []
  const told = (level: string) => (fields: object, message: string) =>
    void lines.push([level, fields, message])
  const log: Log = { info: told('info'), warn: told('warn'), error: told('error') }
  const none = new ProtocolError('PROTOCOL_BROKEN_QUEUE', 'Layer 1 has no state queue of these contracts')
  const broken = new ProtocolError('PROTOCOL_BROKEN_QUEUE', 'The state queue is broken: 2 roots')
  beforeInit(log).error({ height: 0, err: none }, none.message)
  beforeInit(log).error({ height: 0, err: broken }, broken.message)
  expect(lines).toEqual([
    ['info', { height: 0 }, none.message],
    ['error', { height: 0, err: broken }, broken.message],
  ])
})
