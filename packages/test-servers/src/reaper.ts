/**
 * Ends what a test process leaves behind, however that process dies (SIGKILL included). One small shell a process waits on
 * a pipe whose other end only we hold: when we are gone it reads the end of file, kills what is still listed and removes
 * its folders. An exit handler alone would miss a crash.
 */
import { type ChildProcess, spawn } from 'node:child_process';

const SCRIPT = `
trap '' INT TERM HUP
live=
while read -r op pid dir; do
  case $op in
    add) live="$live $pid:$dir" ;;
    drop) kept=; for one in $live; do case $one in "$pid":*) ;; *) kept="$kept $one" ;; esac; done; live=$kept ;;
  esac
done
for one in $live; do kill -9 "\${one%%:*}" 2>/dev/null; done
for one in $live; do dir=\${one#*:}; if [ -n "$dir" ]; then rm -rf -- "$dir"; fi; done
`;

let shell: ChildProcess | undefined;

function tell(line: string): void {
  if (shell === undefined) {
    shell = spawn('/bin/sh', ['-c', SCRIPT], { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
    shell.unref();
    // A pipe is a net.Socket; it must not keep the test process alive either.
    (shell.stdin as unknown as { unref(): void }).unref();
    shell.stdin?.on('error', () => undefined);
  }
  shell.stdin?.write(`${line}\n`);
}

/** From now on `pid` is killed and `dir` (no white space in it) removed when this process ends. */
export function reap(pid: number, dir: string): void {
  tell(`add ${pid} ${dir}`);
}

/** `pid` has ended and was cleaned up after: its number may belong to somebody else soon. */
export function forget(pid: number): void {
  tell(`drop ${pid} -`);
}
