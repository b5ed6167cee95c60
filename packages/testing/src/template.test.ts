import { mkdir, mkdtemp, readdir, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { defaultTemplates, saveTemplate, templateOf } from './template.js'

test('keeps templates in the nearest node_modules, or else among temporary files', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ratatosk-templates-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const project = join(folder, 'project')
  await mkdir(join(project, 'node_modules'), { recursive: true })
  await mkdir(join(project, 'src'))
  expect(defaultTemplates(join(project, 'src'))).toBe(join(project, 'node_modules/.cache/ratatosk/testing'))
  vi.stubEnv('TMPDIR', folder)
  onTestFinished(() => void vi.unstubAllEnvs())
  const temporary = defaultTemplates(folder)
  expect(temporary).toBe(join(folder, `ratatosk-testing-templates-${process.getuid?.()}`))
  expect((await stat(temporary)).mode & 0o777).toBe(0o700)
})

test('names a template by the build and the settings, in any order', () => {
  const named = (settings: Record<string, string>, build?: string) => templateOf('', settings, build)
  expect(named({ a: '1', b: '2' }, 'x')).toBe(named({ b: '2', a: '1' }, 'x'))
  expect(new Set([named({}), named({}, 'x'), named({}, 'y'), named({ a: '1' }, 'x')]).size).toBe(4)
})

test('removes unused templates, and nothing else in the folder', async () => {
  const templates = await mkdtemp(join(tmpdir(), 'ratatosk-templates-'))
  onTestFinished(() => rm(templates, { recursive: true }))
  const template = templateOf(templates, {})
  const unused = ['new-0d9c3f0a-6a53-4f0e-9e0c-0a4f5d2b7c11', '0.0.9-rc.1-0123456789abcdef']
  const others = ['2024-report', 'new-chapter', 'notes-0123456789abcdef', 'source']
  const past = new Date(Date.now() - 15 * 86_400_000)
  for (const name of [...unused, ...others, basename(templateOf(templates, { a: 'b' }))]) {
    await mkdir(join(templates, name))
    await writeFile(join(templates, name, 'file'), '')
    await utimes(join(templates, name), past, past)
  }
  await saveTemplate(join(templates, 'source'), templates, template)
  expect((await readdir(templates)).sort()).toEqual([basename(template), ...others].sort())
})

test('saves a template although an entry of the folder is gone when it is looked at', async () => {
  const templates = await mkdtemp(join(tmpdir(), 'ratatosk-templates-'))
  onTestFinished(() => rm(templates, { recursive: true }))
  const source = join(templates, 'source')
  await mkdir(source)
  // Listed, but without a status: what a rename by another process looks like at the wrong moment.
  await symlink(join(templates, 'gone'), join(templates, 'new-0d9c3f0a-6a53-4f0e-9e0c-0a4f5d2b7c11'))
  const template = templateOf(templates, {})
  await saveTemplate(source, templates, template)
  expect(await readdir(templates)).toContain(basename(template))
})
