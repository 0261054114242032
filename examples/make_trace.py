#!/usr/bin/env python3
"""Write trace.npy: the execution trace of a small RISC-V program, one row per cycle.

The program is a sieve of Eratosthenes over the integers below LIMIT, written in a subset of RV32I.
An interpreter runs it and records what a zkVM records: the program counter, the decoded
instruction, the operands, the result and the memory access of each cycle. 32-bit values are split
into two 16-bit limbs, so that every cell is a field element. After the program has halted, its last
row repeats until the number of rows is a power of two.

Needs the Python standard library alone. Usage: python3 examples/make_trace.py [OUTPUT]
"""

import struct
import sys
from pathlib import Path

LOG_ROWS = 12
LIMIT = 240
BASE = 0x1000
MASK = 0xFFFF_FFFF

COLUMNS = [
    "clk", "pc", "opcode", "rd", "rs1", "rs2", "imm_lo", "imm_hi",
    "rs1_val_lo", "rs1_val_hi", "rs2_val_lo", "rs2_val_hi", "rd_val_lo", "rd_val_hi",
    "mem_addr", "mem_val_lo", "mem_val_hi", "mem_is_write", "next_pc", "is_halted",
]  # fmt: skip

OPCODES = ["addi", "slli", "add", "lui", "lw", "sw", "bne", "blt", "bge", "jal", "ecall"]

REGISTERS = {"zero": 0, "t0": 5, "t1": 6, "t2": 7, "s0": 8, "s1": 9, "a0": 10, "a1": 11, "t3": 28}

PROGRAM = f"""
        lui   s1, {BASE >> 12}        # the table of marks, one word per integer
        addi  s0, zero, {LIMIT}
        addi  t3, zero, 1
        addi  t0, zero, 2             # the candidate
outer:  slli  t1, t0, 2
        add   t1, t1, s1
        lw    t2, 0(t1)
        bne   t2, zero, next          # marked: composite
        addi  a0, a0, 1               # the number of primes
        add   a1, a1, t0              # their sum
        add   t2, t0, t0
inner:  bge   t2, s0, next
        slli  t1, t2, 2
        add   t1, t1, s1
        sw    t3, 0(t1)
        add   t2, t2, t0
        jal   zero, inner
next:   addi  t0, t0, 1
        blt   t0, s0, outer
        ecall
"""


def assemble(text):
    """The instructions of `text` as tuples (name, rd, rs1, rs2, immediate)."""
    lines, labels = [], {}
    for line in text.splitlines():
        line = line.split("#")[0]
        if ":" in line:
            label, line = line.split(":")
            labels[label.strip()] = 4 * len(lines)
        if line.strip():
            lines.append(line.replace(",", " ").split())

    instructions = []
    for address, (name, *operands) in zip(range(0, 4 * len(lines), 4), lines):
        rd = rs1 = rs2 = immediate = 0
        if name in ("addi", "slli"):
            rd, rs1, immediate = REGISTERS[operands[0]], REGISTERS[operands[1]], int(operands[2])
        elif name == "add":
            rd, rs1, rs2 = (REGISTERS[operand] for operand in operands)
        elif name == "lui":
            rd, immediate = REGISTERS[operands[0]], int(operands[1]) << 12
        elif name in ("lw", "sw"):
            offset, base = operands[1].rstrip(")").split("(")
            rs1, immediate = REGISTERS[base], int(offset)
            if name == "lw":
                rd = REGISTERS[operands[0]]
            else:
                rs2 = REGISTERS[operands[0]]
        elif name in ("bne", "blt", "bge"):
            rs1, rs2 = REGISTERS[operands[0]], REGISTERS[operands[1]]
            immediate = labels[operands[2]] - address
        elif name == "jal":
            rd, immediate = REGISTERS[operands[0]], labels[operands[1]] - address
        instructions.append((name, rd, rs1, rs2, immediate))
    return instructions


def signed(word):
    """`word` as a two's complement integer."""
    return word - ((word >> 31) << 32)


def run(instructions):
    """The trace of the program and its registers at the end."""
    registers, memory, pc, rows = [0] * 32, {}, 0, []
    while True:
        name, rd, rs1, rs2, immediate = instructions[pc // 4]
        a, b = registers[rs1], registers[rs2]
        result, address, value, next_pc = 0, 0, 0, pc + 4
        if name == "addi":
            result = (a + immediate) & MASK
        elif name == "slli":
            result = (a << immediate) & MASK
        elif name == "add":
            result = (a + b) & MASK
        elif name == "lui":
            result = immediate & MASK
        elif name == "lw":
            address = (a + immediate) & MASK
            result = value = memory.get(address, 0)
        elif name == "sw":
            address, value = (a + immediate) & MASK, b
            memory[address] = value
        elif name == "jal":
            result, next_pc = next_pc, pc + immediate
        elif name == "ecall":
            next_pc = pc
        elif {"bne": a != b, "blt": signed(a) < signed(b), "bge": signed(a) >= signed(b)}[name]:
            next_pc = pc + immediate
        result = result if rd else 0
        registers[rd] = result

        limbs = [
            half
            for word in (immediate & MASK, a, b, result)
            for half in (word & 0xFFFF, word >> 16)
        ]
        access = [address, value & 0xFFFF, value >> 16, int(name == "sw")]
        decoded = [len(rows), pc, OPCODES.index(name), rd, rs1, rs2]
        rows.append(decoded + limbs + access + [next_pc, int(name == "ecall")])
        if name == "ecall":
            return rows, registers
        pc = next_pc


def npy(rows):
    """The bytes of an .npy file, version 1.0, that holds `rows` as little-endian u32 in C order."""
    header = {"descr": "<u4", "fortran_order": False, "shape": (len(rows), len(rows[0]))}
    text = repr(header).encode()
    text += b" " * (-(10 + len(text) + 1) % 64) + b"\n"
    cells = b"".join(struct.pack(f"<{len(row)}I", *row) for row in rows)
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + cells


def main():
    output = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("trace.npy")
    rows, registers = run(assemble(PROGRAM))
    cycles, height = len(rows), 1 << LOG_ROWS

    primes = [n for n in range(2, LIMIT) if all(n % d for d in range(2, n))]
    assert registers[REGISTERS["a0"]] == len(primes), "the program counts the primes"
    assert registers[REGISTERS["a1"]] == sum(primes), "the program sums the primes"
    assert cycles <= height, f"{cycles} cycles do not fit {height} rows"
    rows += [[clk] + rows[-1][1:] for clk in range(cycles, height)]
    assert all(len(row) == len(COLUMNS) for row in rows)

    output.write_bytes(npy(rows))
    print(f"{output}: {cycles} cycles, {height} rows x {len(COLUMNS)} columns")


if __name__ == "__main__":
    main()
