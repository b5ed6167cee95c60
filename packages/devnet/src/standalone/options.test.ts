import { describe, expect, it } from 'vitest'
import { readCommand } from './options.js'

const defaults = {
  host: '127.0.0.1',
  port: 1337,
  allowedHosts: [],
  dataDirectory: undefined,
  blockEveryMs: 1000,
  slotLengthMs: 1000,
  ogmiosVersion: '6',
  ogmiosStrictRpc: false,
  ledgerVersion: undefined,
}

describe('readCommand', () => {
  it('starts with defaults if there are no arguments', () => {
    expect(readCommand([])).toEqual({ kind: 'start', options: defaults })
  })

  it('reads every option', () => {
    const hosts = '--host ::1 --port 0 --allow-host devnet --allow-host 10.0.0.2'
    const args =
      `${hosts} --data-dir chain --block-every 0 --slot-length 20 --ogmios 7 --strict-rpc --ledger 11`.split(
        ' ',
      )
    expect(readCommand(args)).toEqual({
      kind: 'start',
      options: {
        host: '::1',
        port: 0,
        allowedHosts: ['devnet', '10.0.0.2'],
        dataDirectory: 'chain',
        blockEveryMs: 0,
        slotLengthMs: 20,
        ogmiosVersion: '7',
        ogmiosStrictRpc: true,
        ledgerVersion: '11',
      },
    })
  })

  it.each([
    ['--help', 'help'],
    ['-h', 'help'],
    ['--version', 'version'],
    ['-v', 'version'],
  ])('%s asks for the %s, whatever the other options are', (flag, kind) => {
    expect(readCommand([flag])).toEqual({ kind })
    expect(readCommand(['--port', 'x', flag])).toEqual({ kind })
  })

  it.each([
    [['--prot', '1'], "Unknown option '--prot'"],
    [['start'], "Unexpected argument 'start'"],
    [['--port'], "Option '--port <value>' argument missing"],
    [['--port', '65536'], '--port must be a whole number from 0 to 65535, not "65536"'],
    [['--port', '1e3'], '--port must be a whole number from 0 to 65535, not "1e3"'],
    [['--slot-length', '0'], '--slot-length must be a whole number from 1 to 86400000, not "0"'],
    [['--ledger', '12'], '--ledger must be 10 or 11, not "12"'],
    [['--ogmios', '5'], '--ogmios must be 6 or 7, not "5"'],
    [['--block-every='], '--block-every must be a whole number from 0 to 86400000, not ""'],
  ])('rejects %j', (args, message) => {
    expect(readCommand(args)).toEqual({ kind: 'invalid', message })
  })
})
