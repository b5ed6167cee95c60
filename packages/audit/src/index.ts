export { type OpenArchivistOptions, openArchivist } from './archivist.js'
export { audit } from './audit.js'
export type {
  AuditOptions,
  AuditProgress,
  AuditReport,
  BlockSource,
  Finding,
  FindingKind,
  GenesisOutput,
  NamedHeader,
  NodePlace,
  NodeSource,
  QueueReading,
  QueueSource,
  Unchecked,
} from './types.js'
