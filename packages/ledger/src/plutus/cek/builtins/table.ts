import { bits } from './bits.js'
import type { BuiltinFunction } from './builtin.js'
import { byteStrings } from './byte-strings.js'
import { coins } from './coins.js'
import { collections } from './collections.js'
import { curves } from './curves.js'
import { dataBuiltins } from './data.js'
import { hashes } from './hashes.js'
import { integers } from './integers.js'
import { type BuiltinName, builtinNames } from './names.js'
import { signatures } from './signatures.js'
import { text } from './text.js'

const byName: { readonly [name in BuiltinName]: BuiltinFunction } = {
  ...integers,
  ...byteStrings,
  ...bits,
  ...text,
  ...hashes,
  ...signatures,
  ...collections,
  ...dataBuiltins,
  ...curves,
  ...coins,
}

export const builtins: readonly BuiltinFunction[] = builtinNames.map((name) => byName[name])
