import { fail } from '../failures.js'
import { boolConstant, bytesConstant, Constant } from '../values/constant.js'
import { stringType } from '../values/constant-type.js'
import { anyAt, builtin, bytesAt, textAt } from './builtin.js'

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const encoder = new TextEncoder()

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes)
  } catch {
    return fail('decodeUtf8: not UTF-8')
  }
}

export const text = {
  appendString: builtin(0, 2, (args) => new Constant(stringType, textAt(args, 0) + textAt(args, 1))),
  equalsString: builtin(0, 2, (args) => boolConstant(textAt(args, 0) === textAt(args, 1))),
  encodeUtf8: builtin(0, 1, (args) => bytesConstant(encoder.encode(textAt(args, 0)))),
  decodeUtf8: builtin(0, 1, (args) => new Constant(stringType, decodeUtf8(bytesAt(args, 0)))),
  trace: builtin(1, 2, (args, { trace }) => {
    trace(textAt(args, 0))
    return anyAt(args, 1)
  }),
}
