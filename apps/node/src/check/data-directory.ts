import { access, constants, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import type { Settings } from '../settings/schema.js'
import { about, type NodeFinding } from './finding.js'

const { ok, failed } = about('data directory')

/** Whether DATA_DIR can be written to, or created. Creates nothing. */
export async function checkDataDirectory({
  DATA_DIR,
}: Pick<Settings, 'DATA_DIR'>): Promise<readonly NodeFinding[]> {
  const path = resolve(DATA_DIR)
  const existing = await nearestExisting(path)
  const mend = 'Correct its owner and mode, or set another DATA_DIR.'
  if (!(await stat(existing)).isDirectory())
    return [failed(`DATA_DIR is "${DATA_DIR}": "${existing}" is not a directory. Set another DATA_DIR.`)]
  try {
    await access(existing, constants.W_OK | constants.X_OK)
  } catch {
    return [failed(`DATA_DIR is "${DATA_DIR}": this user cannot write to "${existing}". ${mend}`)]
  }
  return [ok(existing === path ? path : `${path}, which the first start creates`)]
}

async function nearestExisting(path: string): Promise<string> {
  try {
    await stat(path)
    return path
  } catch {
    return dirname(path) === path ? path : nearestExisting(dirname(path))
  }
}
