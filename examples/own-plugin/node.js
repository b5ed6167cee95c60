import { readSettings, startNode } from '@ratatosk/node'
import { balanceRow } from './row.js'

const node = await startNode(readSettings(process.env), { plugins: [balanceRow] })
console.log(node.url)
process.once('SIGTERM', () => node.close())
process.once('SIGINT', () => node.close())
