import { ownerSetting } from './left-over.js'

/** Sessions beside those of the caller's pools: autovacuum's, a person's, and those that are ending. */
const furtherSessions = 20

/** The settings of a server for one node on a small machine, given at each start by its version. */
export function serverSettings(maxConnections: number): readonly string[] {
  const settings = {
    // In the folder of the cluster, which only its owner can enter.
    listen_addresses: '',
    unix_socket_directories: '.',
    max_connections: maxConnections + furtherSessions,
    // Memory. Data that is read often is also in the page cache.
    shared_buffers: '48MB',
    work_mem: '4MB',
    maintenance_work_mem: '32MB',
    huge_pages: 'off',
    // In files: a container may have only 64 MB of shared memory.
    dynamic_shared_memory_type: 'mmap',
    // No processes that a node's short statements do not need.
    io_method: 'sync',
    max_worker_processes: 0,
    max_parallel_workers: 0,
    max_logical_replication_workers: 0,
    autovacuum_max_workers: 1,
    autovacuum_worker_slots: 1,
    jit: 'off',
    // No replicas.
    wal_level: 'minimal',
    max_wal_senders: 0,
    // As much as a start after a crash reads within a few seconds.
    max_wal_size: '256MB',
    min_wal_size: '32MB',
    checkpoint_timeout: '15min',
    // Durable, even if a file in the folder says otherwise.
    fsync: 'on',
    full_page_writes: 'on',
    synchronous_commit: 'on',
    // The caller logs its failed statements.
    log_min_messages: 'log',
    log_checkpoints: 'off',
    log_line_prefix: '',
    [ownerSetting]: process.pid,
  }
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
}
